package chrome

import "github.com/ntconv/ntconv/internal/timeline"

// colors are names of colors that chrome://tracing reserves, by category, in the hues of exporters/firefox: orange for
// garbage collections, red for exceptions and locks, grey for waits, green for spans. Without one, a viewer derives the
// color from the name, and slices of one category have any color. chrome://tracing ignores the colors of asynchronous
// slices.
var colors = map[string]string{
	timeline.CategoryGC:         "bad",
	timeline.CategoryJIT:        "rail_animation",
	timeline.CategoryContention: "terrible",
	timeline.CategoryWait:       "grey",
	timeline.CategorySpan:       "good",
	timeline.CategoryRequest:    "rail_response",
	timeline.CategoryException:  "terrible",
	timeline.CategoryLoss:       "black",
}

// appendColor appends the member cname for a category with a color.
func appendColor(b []byte, category string) []byte {
	if name, ok := colors[category]; ok {
		b = append(append(append(b, `,"cname":"`...), name...), '"')
	}
	return b
}
