"""Plumbline, LangChain and LlamaIndex over the same PDFs with the same embedding model: each in processes of its own,
by turns.
"""
