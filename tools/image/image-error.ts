/** Why images cannot be made here, in words for whoever wants them. */
export class ImageError extends Error {
  override readonly name = 'ImageError';
}
