"""Entailment models: does this text support this claim?"""
