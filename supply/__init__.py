"""Keeps the supply chain: the lock of all packages, the check of an environment against it, their licences, the bill of
materials.
"""
