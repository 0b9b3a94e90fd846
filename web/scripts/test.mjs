// Runs the unit tests; the last line is `N passed, N failed`.
import { startVitest } from 'vitest/node';

const run = await startVitest('test', [], { watch: false, reporters: ['dot'] });
const tests = run.state.getTestModules().flatMap((module) => [...module.children.allTests()]);
const states = tests.map((test) => test.result().state);
const failed = states.filter((state) => state !== 'passed' && state !== 'skipped').length;
// Also what goes wrong outside of a test: a file that cannot be read, an error nobody caught.
const broken = run.state.getTestModules().filter((module) => module.errors().length > 0).length + run.state.getUnhandledErrors().length;
await run.close();
console.log(`${states.filter((state) => state === 'passed').length} passed, ${failed + broken} failed`);
process.exit(failed + broken > 0 ? 1 : 0);
