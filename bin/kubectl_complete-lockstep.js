#!/usr/bin/env node
// kubectl runs this program to complete "kubectl lockstep".
process.argv.splice(2, 0, '__complete');
await import('../dist/cli.js');
