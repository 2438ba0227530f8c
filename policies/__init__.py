"""Profiles and ready-made policies, as package data: text in the language, no code."""
