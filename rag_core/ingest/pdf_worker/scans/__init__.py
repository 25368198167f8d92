"""Pages without text: drawn as pictures, and read by Tesseract."""
