"""One file per outside thing; each fits a port of `rag_core.domain.ports` by shape."""
