package where

import (
	"strings"
	"testing"
	"time"

	"github.com/ntconv/ntconv"
)

// subjects are two subjects with the properties of one object.
func subjects() []*Subject {
	return []*Subject{
		{Name: "box", Example: "box.size == 1", Properties: []Property{{Name: "size", Kind: PropertyNumber}, {Name: "color", Kind: PropertyWord}}},
		{Name: "bag", Example: "bag.size == 1", Properties: []Property{{Name: "size", Kind: PropertyNumber}}},
	}
}

// An expression is about the subject that its first operand names, and the name alone is always true.
func TestParseAbout(t *testing.T) {
	value := func(property int, _ string) ntconv.Value {
		return []ntconv.Value{ntconv.UintValue(7), ntconv.StringValue("DarkRed")}[property]
	}
	for text, want := range map[string]bool{
		"box": true, "bag": true, "!bag": false, "has(box)": true, "box || box.size == 1": true, "box && box.size == 1": false,
		"box.size > 6.5": true, "bag.size in (1, 7)": true, "bag.size != 7": false,
		`box.color == "darkred"`: true, `box.color =~ "^Dark"`: true, `box.color =~ "^dark"`: true, `box.color =~ "black"`: false,
	} {
		c, err := ParseAbout(text, subjects()...)
		if err != nil || c.Match(time.Time{}, value) != want || !strings.Contains(text, c.Subject().Name) {
			t.Errorf("%s: want %v, %v", text, want, err)
			continue
		}
		again, err := ParseAbout(c.String(), subjects()...)
		if err != nil || again.String() != c.String() || again.Match(time.Time{}, value) != want {
			t.Errorf("%s: printed as %s: %v", text, c, err)
		}
	}
	for text, want := range map[string]string{
		"":                      "want a comparison such as box.size == 1",
		"bog.size == 1":         "position 1: bog.size is unknown; did you mean box?",
		"barrel":                "position 1: barrel is unknown; available: box, bag",
		"box && bag":            "position 8: box and bag in one expression",
		"box && barrel":         "position 8: barrel is not a property of a box",
		"box == 1":              "position 1: box is not a property of a box; available: box.size, box.color",
		"box in (1)":            "position 1: box is not a property of a box",
		"bag.size":              "want a comparison",
		`bag.size == "7"`:       `bag.size is a number; want a number, got "7"`,
		"bag.size == 7ms":       "bag.size is a number; want a number, got 7ms",
		`bag.size =~ "7"`:       "bag.size is not a string; =~ needs a string",
		"bag.color == 'red'":    "a bag has no property color; available: bag.size",
		"box.size == 7 bag.siz": "want && or ||",
	} {
		if _, err := ParseAbout(text, subjects()...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
