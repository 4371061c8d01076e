// The version of this build. The import is resolved when the bundle is made, which keeps no more of the file
// than this one string; run from source, Node reads the file itself.

import manifest from '../package.json' with { type: 'json' };

export const VERSION: string = manifest.version;
