"""The commands about signatures and proofs: key, checkpoint, prove, verify-proof."""
