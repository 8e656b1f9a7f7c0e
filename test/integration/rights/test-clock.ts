import { readFileSync } from 'node:fs';

/*
 * Loaded before a function's bundle: a clock that is ahead by what a file says, ms, for all that happens by the hour. It is read
 * once in a process.
 */

const aheadMs = Number(readFileSync(process.env['HOLDFAST_TEST_CLOCK']!, 'utf8'));
const now = Date.now.bind(Date);
Date.now = () => now() + aheadMs;
