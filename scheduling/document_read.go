package scheduling

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	sigsjson "sigs.k8s.io/json"
)

// SchemaError reports data of a kind or version that this code does not read.
type SchemaError struct {
	// What was to be read: "plan" or "problem".
	What string
	// Schema is what the data calls itself, empty if it does not say; Want what is read here.
	Schema, Want string
}

// Error names both schemas and says what to do.
func (e *SchemaError) Error() string {
	if e.Schema == "" {
		return fmt.Sprintf("scheduling: %s: no \"schema\"; want JSON with \"schema\": %q", e.What, e.Want)
	}
	return fmt.Sprintf("scheduling: %s: schema is %q, this version reads %q; use the version that wrote it, or write it anew",
		e.What, e.Schema, e.Want)
}

// ReadDocument reads one plan document, to the end of r. Data of another schema gives a *SchemaError.
// Fields this version does not know are passed over: a later version of the same schema may
// have added them, and a saved plan is there to be compared and shown, not to be acted on blindly.
func ReadDocument(r io.Reader) (*Document, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("scheduling: plan: %w", err)
	}
	d := new(Document)
	if err := d.UnmarshalJSON(data); err != nil {
		return nil, err
	}
	return d, nil
}

// plainDocument has Document's fields without its methods.
type plainDocument Document

// UnmarshalJSON reads as ReadDocument does.
func (d *Document) UnmarshalJSON(data []byte) error {
	if err := checkSchema(data, "plan", PlanSchema); err != nil {
		return err
	}
	var p plainDocument
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, &p); err != nil {
		return readError("plan", data, err)
	}
	*d = Document(p)
	return nil
}

// MarshalJSON writes the lists that a reader may rely on as lists even where they are empty.
func (d Document) MarshalJSON() ([]byte, error) {
	p := plainDocument(d)
	if p.Launches == nil {
		p.Launches = []LaunchDocument{}
	}
	if p.Placements == nil {
		p.Placements = []PlacementDocument{}
	}
	if p.Unplaced == nil {
		p.Unplaced = []UnplacedDocument{}
	}
	return json.Marshal(&p)
}

// checkSchema looks at nothing but the schema field, so that data of another version is
// recognised as such rather than by some field that looks wrong.
func checkSchema(data []byte, what, want string) error {
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := sigsjson.UnmarshalCaseSensitivePreserveInts(data, &head); err != nil {
		return readError(what, data, err)
	}
	if head.Schema == nil {
		return &SchemaError{What: what, Want: want}
	}
	if *head.Schema != want {
		return &SchemaError{What: what, Schema: *head.Schema, Want: want}
	}
	return nil
}

// readError names the line of a syntax error and the field of a type error.
func readError(what string, data []byte, err error) error {
	var syntax *json.SyntaxError
	if ok, offset := sigsjson.SyntaxErrorOffset(err); ok {
		return fmt.Errorf("scheduling: %s: line %d: not JSON: %w", what, lineAt(data, int64(offset)), err)
	}
	if errors.As(err, &syntax) {
		return fmt.Errorf("scheduling: %s: line %d: not JSON: %w", what, lineAt(data, syntax.Offset), err)
	}
	return fmt.Errorf("scheduling: %s: %w", what, err)
}

func lineAt(data []byte, offset int64) int {
	line := 1
	for _, c := range data[:min(int64(len(data)), max(offset, 0))] {
		if c == '\n' {
			line++
		}
	}
	return line
}
