"""In which order KAI turns to workloads: of queues level by level, in heaps that are put right only at their top."""
