import { writeFile } from 'node:fs/promises';
import { goldenFiles, goldenUrl } from './golden-files.ts';

/*
 * Makes the golden files that do not exist yet: `node test/golden/make-golden.ts`. It never replaces one, as what is in
 * them has been written by released code and has to be read for ever.
 */

for (const [name, encode] of Object.entries(goldenFiles)) {
  try {
    await writeFile(goldenUrl(name), encode(), { flag: 'wx' });
    console.log(`${name}: made`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    console.log(`${name}: exists, left alone`);
  }
}
