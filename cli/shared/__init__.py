"""What several commands share: options, output, files, moments, selections, keys."""
