"""What a service does in a cluster: for each way that the settings know, how it is put together."""
