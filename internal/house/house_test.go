// Package house checks how the project is built: which packages import which, what is documented, what .ci/run runs.
package house

// root is the project's folder, to which each test changes. Go notes what a test reads, and runs it again when that has changed, from
// the folder that the test itself changes to.
const root = "../.."
