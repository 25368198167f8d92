"""Who calls: people, programs and visitors, what each may do, and how often."""
