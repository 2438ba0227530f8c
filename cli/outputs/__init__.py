"""What commands write: the kinds of files, and which of them an output may replace."""
