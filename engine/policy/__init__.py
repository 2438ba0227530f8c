"""Parts of a policy: how passes decide, how workloads come into queues, and what no core decides."""
