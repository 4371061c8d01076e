// Decoding of compressed answers. Loaded only when a server compresses although it was not asked to.

import {
  type BrotliDecompress,
  constants,
  createBrotliDecompress,
  createUnzip,
  createZstdDecompress,
  type Unzip,
  type ZstdDecompress,
} from 'node:zlib';

export type Decoder = BrotliDecompress | Unzip | ZstdDecompress;

/** A decoder that passes on at once what it has; undefined for an encoding that it does not know. */
export function decompressor(encoding: string): Decoder | undefined {
  if (encoding === 'br') return createBrotliDecompress({ flush: constants.BROTLI_OPERATION_FLUSH });
  if (encoding === 'zstd') return createZstdDecompress({ flush: constants.ZSTD_e_flush });
  if (encoding !== 'gzip' && encoding !== 'x-gzip' && encoding !== 'deflate') return undefined;
  const { Z_SYNC_FLUSH } = constants;
  return createUnzip({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH });
}
