"""The parts of the pages: views of decisions, settings, evidence and running work.

They render and call the core; they decide nothing.

Text that came with a document (its words, its title, its file name, an error that quotes them) goes only into elements
that do not interpret it: `st.text`, `st.code`, `st.dataframe`, `st.image`, and the options of a select box.
tests/pages/test_inert.py holds this package and the pages to it.
"""
