/**
 * The versions that a component runs as: what its binary is, what it emulates, and the oldest one that it shares a
 * cluster with. Ranges and words are those of Kubernetes.
 */
export interface Version {
  readonly major: number;
  readonly minor: number;
}

/** The version of the API and of the feature gates that this code implements. */
export const BINARY: Version = { major: 1, minor: 36 };

/** Both the emulated and the minimal compatible version may be up to three minors behind the binary. */
export const FLOOR: Version = { major: 1, minor: 33 };

/** The component's name in flags that name components. */
const COMPONENT = "kube";

export interface VersionFlags {
  /** `1.35` or `kube=1.35`. */
  readonly emulatedVersion?: string | undefined;
  readonly minCompatibilityVersion?: string | undefined;
}

export interface EffectiveVersions {
  readonly emulated: Version;
  readonly minCompatibility: Version;
}

export function effectiveVersions({ emulatedVersion, minCompatibilityVersion }: VersionFlags): EffectiveVersions {
  const emulated = versionFlag(emulatedVersion) ?? BINARY;
  const previous = { major: emulated.major, minor: emulated.minor - 1 };
  const oldest = isOlder(previous, FLOOR) ? FLOOR : previous;
  const minCompatibility = versionFlag(minCompatibilityVersion) ?? oldest;
  return { emulated, minCompatibility };
}

/** The faults of versions that are well-formed. */
export function versionFaults({ emulated, minCompatibility }: EffectiveVersions): readonly string[] {
  const faults: string[] = [];
  if (isOlder(BINARY, emulated) || isOlder(emulated, FLOOR))
    faults.push(`emulation version ${text(emulated)} is not between [${text(FLOOR)}, ${text(BINARY)}.0]`);
  if (isOlder(emulated, minCompatibility) || isOlder(minCompatibility, FLOOR)) {
    const range = `[${text(FLOOR)}, ${text(emulated)}]`;
    faults.push(`minCompatibilityVersion version ${text(minCompatibility)} is not between ${range}`);
  }
  return faults;
}

export function isOlder(a: Version, b: Version): boolean {
  return a.major < b.major || (a.major === b.major && a.minor < b.minor);
}

export function text({ major, minor }: Version): string {
  return `${major}.${minor}`;
}

/** A list of `component=version`, of which only this component is known. Throws with upstream's words. */
function versionFlag(value: string | undefined): Version | undefined {
  let found: Version | undefined;
  for (const item of (value ?? "").split(",").filter((item) => item !== "")) {
    const at = item.indexOf("=");
    const component = at === -1 ? COMPONENT : item.slice(0, at).trim();
    const version = parseVersion(at === -1 ? item : item.slice(at + 1).trim(), component);
    if (component !== COMPONENT) throw new Error(`component not registered: ${component}`);
    if (found !== undefined)
      throw new Error(`duplicate version flag, ${COMPONENT}=${text(found)} and ${COMPONENT}=${text(version)}`);
    found = version;
  }
  return found;
}

const VERSION = /^\s*v?([0-9]+(?:\.[0-9]+)*)/;

function parseVersion(value: string, component: string): Version {
  const numbers = VERSION.exec(value)?.[1];
  if (numbers === undefined) throw new Error(`could not parse ${JSON.stringify(value)} as version`);
  const [major, minor, patch = 0] = numbers.split(".").map(Number);
  if (major === undefined || minor === undefined) throw new Error(`illegal version string ${JSON.stringify(value)}`);
  if (patch !== 0) throw new Error(`patch version not allowed, got: ${component}=${numbers}`);
  return { major, minor };
}
