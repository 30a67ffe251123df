"""The nouns: joint, protocol, certificate, result, and their files."""
