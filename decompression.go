package ntconv

// DecompressionLimits bound the memory and time that compressed input can cost. They do not apply to uncompressed
// input. In each member 0 means the default and a negative number means no limit. An input that exceeds a limit ends
// with an error that wraps ErrLimit, with a *LimitError in its chain.
type DecompressionLimits struct {
	// Ratio is the maximum number of decompressed bytes per compressed byte, 200 by default. It applies to the bytes
	// beyond the first 64 MiB of output. Real traces have ratios below 10.
	Ratio int64
	// Bytes is the maximum number of decompressed bytes, 16 GiB by default.
	Bytes int64
	// Window is the maximum window of zstd data in bytes, 128 MiB by default. A decoder allocates the window that a
	// frame of 9 bytes asks for. Without a limit the decoder refuses windows above 2 GiB.
	Window int64
}
