"""The places of a policy as tables, what workloads ask of them, and what kernels wrote of them."""
