// What SillyTavern does for each key of a scan, written from its documented behaviour: both sides in lower case; a key
// of several words is a substring; a key of one word must stand between non-word characters (ASCII).
// Reads {"text", "keys", "rounds"} from standard input, writes the milliseconds of each round.
import { readFileSync } from 'node:fs';

const { text, keys, rounds } = JSON.parse(readFileSync(0, 'utf8'));

function matches(haystack, key) {
    const needle = key.trim().toLowerCase();
    if (!needle) return false;
    if (needle.split(/\s+/).length > 1) return haystack.includes(needle);
    const escaped = needle.replace(/[/\-\\^$*+?.()|[\]{}]/g, '\\$&');
    return new RegExp(`(?:^|\\W)(${escaped})(?:$|\\W)`).test(haystack);
}

const milliseconds = [];
let found = 0;
for (let round = 0; round <= rounds; round++) {
    const began = performance.now();
    for (const key of keys) found += matches(text.toLowerCase(), key) ? 1 : 0;
    if (round) milliseconds.push(performance.now() - began);
}
console.log(JSON.stringify({ milliseconds, found }));
