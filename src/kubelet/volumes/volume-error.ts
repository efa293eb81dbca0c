/** A volume cannot be mounted: reported as an event, and retried. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
}

export function mountFailed(volume: string, problem: string, cause?: unknown): VolumeError {
  return new VolumeError(`MountVolume.SetUp failed for volume "${volume}" : ${problem}`, { cause });
}
