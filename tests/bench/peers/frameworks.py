"""Indexes PDFs the way LangChain or LlamaIndex is introduced: run by the Python of build/peers, by file, since nothing
of ours is there.

usage: frameworks.py langchain|llamaindex MODEL_FOLDER PDF...

The model is loaded and has run once before the clock starts, as it has for Plumbline. Both read with PyMuPDF, which is
the fastest reader that they have, and keep vectors in memory; LangChain also lists words (BM25), since Plumbline and a
hybrid search need them. Texts are cut to about the size of Plumbline's passages, 256 tokens; the model reads 512.
Nothing is written to disk, which is in their favour. Prints one line of JSON: pages, passages, how many of them the
model did not read to the end, seconds, processor seconds.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

# read when the libraries are imported
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1"}
READ_TOKENS = 512  # as published with the model
CHARS = 1000  # a passage of LangChain's: about 220 tokens, and the splitter's own example
TOKENS, OVERLAP_TOKENS = 230, 25  # a passage of LlamaIndex's: its tokens are others than the splitter counts
OVERLAP_CHARS = 100


def langchain(model, pdfs):
    """A function that indexes the PDFs, and gives the number of pages, the passages' texts, and what has to be kept."""
    from langchain_community.document_loaders import PyMuPDFLoader
    from langchain_community.retrievers import BM25Retriever
    from langchain_community.vectorstores import FAISS
    from langchain_huggingface import HuggingFaceEmbeddings
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    embeddings = HuggingFaceEmbeddings(model_name=model, model_kwargs={"device": "cpu"})
    embeddings.embed_query("warm")

    def run():
        pages = [page for pdf in pdfs for page in PyMuPDFLoader(pdf).load()]
        splitter = RecursiveCharacterTextSplitter(chunk_size=CHARS, chunk_overlap=OVERLAP_CHARS)
        passages = splitter.split_documents(pages)
        kept = FAISS.from_documents(passages, embeddings), BM25Retriever.from_documents(passages)
        return len(pages), [passage.page_content for passage in passages], kept

    return run


def llamaindex(model, pdfs):
    """As `langchain`."""
    from llama_index.core import Settings, VectorStoreIndex
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding
    from llama_index.readers.file import PyMuPDFReader

    Settings.embed_model, Settings.llm = HuggingFaceEmbedding(model_name=model, device="cpu"), None
    Settings.embed_model.get_query_embedding("warm")

    def run():
        pages = [page for pdf in pdfs for page in PyMuPDFReader().load_data(file_path=Path(pdf))]
        passages = SentenceSplitter(chunk_size=TOKENS, chunk_overlap=OVERLAP_TOKENS).get_nodes_from_documents(pages)
        return len(pages), [passage.get_content() for passage in passages], VectorStoreIndex(passages)

    return run


BY_NAME = {"langchain": langchain, "llamaindex": llamaindex}


def main(name, model, *pdfs):
    """Index once and print what it took."""
    os.environ.update(OFFLINE)
    run = BY_NAME[name](model, pdfs)
    started, before = time.perf_counter(), _processor_seconds()
    pages, passages, _kept = run()
    seconds = time.perf_counter() - started
    processor = _processor_seconds() - before
    print(
        json.dumps(
            {
                "pages": pages,
                "passages": len(passages),
                "seconds": seconds,
                "processor": processor,
                "cut": _cut(model, passages),
            }
        )
    )


def _cut(model, texts):
    """How many texts are longer than the model reads: what is too much of them was left out."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{model}/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return sum(len(encoded.ids) > READ_TOKENS for encoded in tokenizer.encode_batch(texts))


def _processor_seconds():
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
