module github.com/ntconv/ntconv/e2e

go 1.26.0

require github.com/klauspost/compress v1.20.3

replace github.com/ntconv/ntconv => ../
