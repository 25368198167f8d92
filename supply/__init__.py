"""What Plumbline is made of: the lock of its packages, whether an environment equals it, their licences, the bill of materials."""
