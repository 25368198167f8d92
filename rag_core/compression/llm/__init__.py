"""What a language model is sent, and how its reply is read."""
