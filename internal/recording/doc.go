// Package recording decides which events of a trace state what happened while it was recorded, and when that was. A part
// of a recording, which filter or split wrote, also holds copies of events from elsewhere, and statements of ntconv.
package recording
