import { describe, expect, it } from "vitest";
import { compareVersions, normalizedVersion, parseSemanticVersion } from "./semantic-version.ts";

describe("reading", () => {
  it("takes a version apart", () => {
    expect(parseSemanticVersion("1.2.3-alpha.4.x-y+build.5-6")).toEqual({
      major: 1n,
      minor: 2n,
      patch: 3n,
      preRelease: ["alpha", 4n, "x-y"],
      build: ["build", "5-6"],
    });
  });

  it("takes numbers of 64 bits", () => {
    expect(parseSemanticVersion("18446744073709551615.0.0").major).toBe(2n ** 64n - 1n);
  });

  it.each([
    ["", "Version string empty"],
    ["1", "No Major.Minor.Patch elements found"],
    ["1.2", "No Major.Minor.Patch elements found"],
    ["v1.2.3", 'Invalid character(s) found in major number "v1"'],
    ["1.x.3", 'Invalid character(s) found in minor number "x"'],
    ["1.2.x", 'Invalid character(s) found in patch number "x"'],
    ["1.2.3.4", 'Invalid character(s) found in patch number "3.4"'],
    ["01.2.3", 'Major number must not contain leading zeroes "01"'],
    ["1.02.3", 'Minor number must not contain leading zeroes "02"'],
    ["1.2.03", 'Patch number must not contain leading zeroes "03"'],
    [".2.3", 'strconv.ParseUint: parsing "": invalid syntax'],
    ["18446744073709551616.0.0", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'],
    ["1.2.3-", "Prerelease is empty"],
    ["1.2.3-a..b", "Prerelease is empty"],
    ["1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'],
    ["1.2.3-ä", 'Invalid character(s) found in prerelease "ä"'],
    ["1.2.3+", "Build meta data is empty"],
    ["1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'],
  ])("refuses %s", (text, why) => {
    expect(() => parseSemanticVersion(text)).toThrow(why);
  });
});

describe("normalizing", () => {
  it.each([
    ["v1.2.3", "1.2.3"],
    ["1", "1.0.0"],
    ["v1.0", "1.0.0"],
    ["01.01.01", "1.1.1"],
    ["00.00.00", "0.0.0"],
    ["1.2.03-rc.1", "1.2.3-rc.1"],
    ["1.2.0-rc.1", "1.2.0-rc.1"],
    ["vv1.2.3", "0v1.2.3"],
  ])("%s is %s", (text, want) => {
    expect(normalizedVersion(text)).toBe(want);
  });

  it.each(["1-rc", "1.2+x"])("refuses %s", (text) => {
    expect(() => normalizedVersion(text)).toThrow("short version cannot contain PreRelease/Build meta data");
  });
});

it("orders versions as semver.org does", () => {
  const ordered = [
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "2.0.0-rc.1",
  ].map(parseSemanticVersion);
  for (const [i, a] of ordered.entries())
    for (const [j, b] of ordered.entries()) expect(compareVersions(a, b)).toBe(Math.sign(i - j));
  expect(compareVersions(parseSemanticVersion("1.0.0+a"), parseSemanticVersion("1.0.0+b"))).toBe(0);
});
