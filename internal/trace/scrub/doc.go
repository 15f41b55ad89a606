// Package scrub replaces the secrets of a trace, so that the trace can be given away: texts in payloads, attributes,
// labels, names of threads, processes and files.
//
//	event → schema → class of each field (Policy) → action of the class → texts → payload of the same size
//
// A Policy assigns a class to each field by provider, event and name, and an action to each class. Text that no rule
// knows is replaced, and so are byte arrays and bytes that no layout describes. Numbers are kept.
//
// # Pseudonyms
//
// The unit of replacement is the word: a run of letters and digits, also of characters beyond ASCII. A word becomes
// another word with the same number of characters, which have the same size in every encoding, the same kind (letter,
// digit) and the same case. Separators stay. Therefore payloads keep their sizes, paths their depth, URLs, JSON and SQL
// their structure, and the same user name has the same pseudonym in a path, in a URL and alone.
//
// A pseudonym depends on the word in lower case and the key, through HMAC-SHA-256. Numbers of up to four digits and
// words of up to three letters are permuted, so different ones stay different. A short word has few possible
// pseudonyms, and equal words remain equal: if a reader knows the text of a message, its words can be recognized
// elsewhere in the trace.
package scrub
