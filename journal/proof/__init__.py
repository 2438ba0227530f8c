"""Proofs: the Merkle tree, signed checkpoints, and what an auditor holds against a journal."""
