package ntconv

// DecompressionLimits bound what compressed input may cost. They do not apply to input that is not compressed. In every
// member zero means the default and a negative number means no limit. An input that exceeds a limit ends with an error
// that has a LimitError in its chain.
type DecompressionLimits struct {
	// Ratio is the maximum number of decompressed bytes per compressed byte, 200 by default. It applies to what exceeds
	// the first 64 MiB. Real traces stay below 10.
	Ratio int64
	// Bytes is the maximum number of decompressed bytes, 16 GiB by default.
	Bytes int64
	// Window is the maximum window of zstd data in bytes, 128 MiB by default. A decoder allocates the window that a
	// frame of 9 bytes asks for. Without a limit the decoder refuses windows above 2 GiB.
	Window int64
}
