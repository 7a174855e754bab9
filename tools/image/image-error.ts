/** Why images cannot be made on this machine, in words for the user. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}
