"""Warnings: what is allowed and certainly not meant."""
