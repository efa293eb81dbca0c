/** A volume cannot be made ready: told as an event, and tried again. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
}

export function mountFailed(volume: string, problem: string, cause?: unknown): VolumeError {
  return new VolumeError(`MountVolume.SetUp failed for volume "${volume}" : ${problem}`, { cause });
}
