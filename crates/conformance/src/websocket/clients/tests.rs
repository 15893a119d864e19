//! A run with a client that is not one of ours: a few lines of raw bytes.
