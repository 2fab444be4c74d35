package depcheck

// rule is one row of the import table: a package, all below it, and what they may import.
type rule struct {
	// pkg is the package, relative to the module. The longest match decides.
	pkg string
	// ours are packages of this module that may be imported, besides the row's own subtree.
	ours []string
	// external are import paths outside the standard library that may be imported, with all below.
	external []string
	// pure marks a row to which the ban of impure packages and calls applies.
	pure bool
	// reason is printed when the row is broken.
	reason string
}

const (
	api          = "k8s.io/api"
	apimachinery = "k8s.io/apimachinery"
	yaml         = "sigs.k8s.io/yaml"
	// apimachinery brings this one and decodes its objects with it; it is strict about case and duplicates.
	sigsJSON = "sigs.k8s.io/json"
	// apimachinery brings this one; it keeps the line numbers that sigs.k8s.io/yaml drops.
	goYAML = "go.yaml.in/yaml"
	toml   = "github.com/pelletier/go-toml/v2"
	awsSDK = "github.com/aws/aws-sdk-go-v2"
	smithy = "github.com/aws/smithy-go"
)

// rules are the rows for every package that there is or will be. A public package without one fails.
var rules = []rule{
	{pkg: "selectors", pure: true,
		reason: "a leaf that anyone can embed at no cost: terms are strings, an inventory is values"},
	{pkg: "userdata", pure: true, external: []string{toml, yaml},
		reason: "a leaf: bytes in, bytes out, with the two parsers of the formats it merges"},
	{pkg: "scheduling", pure: true, external: []string{api, apimachinery, sigsJSON},
		reason: "a leaf: the solver sees values, not clusters, and cloud facts arrive as InstanceType"},
	{pkg: "scheduling/disruption", pure: true, ours: []string{"scheduling"}, external: []string{api, apimachinery},
		reason: "plans removals with the solver; `now` is an argument"},
	{pkg: "scheduling/snapshot", pure: true, ours: []string{"scheduling"},
		external: []string{api, apimachinery, yaml, goYAML, sigsJSON},
		reason:   "reads Kubernetes objects into a problem; it gets bytes or an fs.FS, never a path or a client"},
	{pkg: "amifamily", pure: true, ours: []string{"userdata"}, external: []string{api, apimachinery, yaml, toml},
		reason: "families are values over user data; nobody fetches here"},
	{pkg: "launchtemplate", pure: true, ours: []string{"amifamily", "userdata"},
		external: []string{api, apimachinery, yaml, toml},
		reason:   "renders templates from values; its Target is its own, so that it needs no solver"},
	{pkg: "provider", ours: []string{"scheduling"}, external: []string{api, apimachinery},
		reason: "the seam every driver implements: importing it must not cost a cloud's SDK"},
	{pkg: "provider/instancetype", pure: true, ours: []string{"scheduling"}, external: []string{api, apimachinery},
		reason: "facts of a machine to scheduling.InstanceType; plain Settings, no AMI family"},
	{pkg: "provider/catalog", pure: true, ours: []string{"provider/instancetype", "scheduling"},
		external: []string{api, apimachinery},
		reason:   "embedded facts and prices; a snapshot comes and goes through io.Reader and io.Writer"},
	{pkg: "provider/overlay", pure: true, ours: []string{"provider/internal/exact", "scheduling"}, external: []string{api, apimachinery},
		reason: "corrects instance types of any origin; it knows no catalogue"},
	{pkg: "provider/pricing", pure: true, ours: []string{"provider/internal/exact", "scheduling"}, external: []string{api, apimachinery},
		reason: "prices offerings of any origin; it knows no catalogue and asks nobody"},
	{pkg: "provider/internal/exact", pure: true, ours: []string{"scheduling"}, external: []string{api, apimachinery},
		reason: "arithmetic on prices that those who change them share"},
	{pkg: "provider/iam", pure: true,
		reason: "a list of actions needs nothing"},
	{pkg: "provider/manifest", pure: true,
		// It reads the documents that snapshot left over, with their places, and reports findings of the same kind.
		ours: []string{"scheduling", "scheduling/disruption", "scheduling/snapshot", "selectors", "amifamily",
			"launchtemplate", "provider/overlay"},
		external: []string{api, apimachinery, yaml, goYAML},
		reason:   "composes the manifest types of the packages that give them meaning"},
	{pkg: "provider/nodeclass", pure: true,
		ours: []string{"provider/manifest", "provider/instancetype", "selectors", "amifamily",
			"launchtemplate"},
		external: []string{api, apimachinery},
		reason:   "resolves a node class against an inventory of values; the EC2 calls are provider/ec2's"},
	{pkg: "provider/providertest", ours: []string{"provider", "scheduling"}, external: []string{api, apimachinery},
		reason: "the conformance suite: plain testing, so that an embedder needs no framework to run it"},
	{pkg: "provider/ec2",
		ours: []string{"selectors", "userdata", "amifamily", "launchtemplate", "scheduling", "scheduling/disruption",
			"scheduling/snapshot", "provider", "provider/instancetype", "provider/catalog", "provider/iam",
			"provider/manifest", "provider/nodeclass"},
		external: []string{api, apimachinery, awsSDK, smithy},
		reason:   "the edge of the world: the AWS SDK is here so that it is nowhere else"},
	{pkg: "fake", ours: []string{"provider", "provider/catalog", "provider/instancetype", "scheduling"},
		external: []string{api, apimachinery},
		reason:   "a cloud in memory that tests can use without any SDK"},
	{pkg: "fake/aws",
		ours: []string{"fake", "provider", "provider/catalog", "provider/ec2", "provider/instancetype",
			"scheduling"},
		external: []string{api, apimachinery, awsSDK, smithy},
		reason:   "serves the AWS APIs over the fake cloud, so it speaks the SDK's types"},
}

// sharedInternals are internal packages that library code may import; each imports nothing itself.
// All others are for tests and developers' commands.
var sharedInternals = map[string]string{
	"internal/spelling":   "how far apart two words are, for hints",
	"internal/invariants": "a constant switched by a build tag",
}

// neverReached must be in no package's dependencies, direct or not; a program that needs one is a
// nested module with its own go.mod. A key covers all paths below it.
var neverReached = map[string]string{
	"k8s.io/client-go":                  "the library sees values, not clusters; a client costs an importer 266 packages",
	"k8s.io/component-helpers":          "brings client-go; what the solver needs of it is a page of code",
	"sigs.k8s.io/controller-runtime":    "the library is not a controller",
	"sigs.k8s.io/karpenter":             "the peer we measure against; internal/bench has a module of its own",
	"github.com/prometheus":             "the library counts nothing behind its caller's back; results carry their statistics",
	"github.com/stretchr/testify":       "tests use plain testing and go-cmp",
	"github.com/onsi/ginkgo":            "tests use plain testing and go-cmp",
	"github.com/google/go-cmp":          "for tests only: it panics and may be slow",
	"github.com/aws/karpenter-provider": "the reference system",
}

// onlyReachedBy are dependencies that only the named rows may have, direct or not.
var onlyReachedBy = map[string][]string{
	awsSDK: {"provider/ec2", "fake/aws"},
	smithy: {"provider/ec2", "fake/aws"},
}

// impureImports may not be imported by the files of a pure row. A key covers all paths below it but
// those in pureBelow.
var impureImports = map[string]string{
	"os":          "pure packages read no environment and no file; take bytes, a reader or an fs.FS",
	"net":         "pure packages talk to nobody",
	"log":         "pure packages log nothing; what a caller should know is in the result",
	"math/rand":   "the same input gives the same bytes; only tests draw random numbers",
	"crypto/rand": "the same input gives the same bytes",
	"syscall":     "pure packages make no system calls",
	"testing":     "test support belongs into test files or into a package that says so",
	"flag":        "importing a library registers nothing",
	"expvar":      "importing a library registers nothing",
}

// pureBelow are paths below an impure one that do nothing but compute.
var pureBelow = map[string]bool{"net/netip": true, "net/url": true, "net/textproto": true}

// impureTime are the names of package time that read the clock or wait.
var impureTime = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true,
	"Tick": true, "NewTicker": true, "NewTimer": true,
}
