import { rename, stat } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { appSettings } from "../../contract/control.ts";
import { issueSentence } from "../core/config/issue-text.ts";
import { writeSettings } from "../core/files/atomic-file.ts";
import { inTurnsOfProcesses } from "../core/files/in-turns-of-processes.ts";
import { NotRegularFile, readRegularFile } from "../core/files/regular-file.ts";
import type { Service } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";

const formatVersion = 1;

// By identifier of a service; a newer version may have more of them.
const serviceValues = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Unknown keys are kept: an older Backlot does not erase what a newer one saved. */
const settingsSchema = z.looseObject({
  version: z.literal(formatVersion),
  app: appSettings.loose().prefault({}),
  activeProfile: z.string(),
  profiles: z.record(z.string(), z.looseObject({ services: serviceValues.default({}) })),
});
const newerSettings = z.looseObject({ version: z.int().gt(formatVersion) });
export type Settings = z.output<typeof settingsSchema>;

export interface SettingsFile {
  readonly current: Settings;
  /**
   * Applies `change` to the settings, as another Backlot may have saved them meanwhile, and saves them; saves run one after the other. `savedActive` is the
   * profile that is active in the file. Throws SETTINGS_UNWRITABLE, and what `change` throws.
   */
  update(change: (settings: Settings, savedActive: string) => Settings): Promise<Settings>;
  /** Reads what another Backlot has saved since it was read last, or who edits the file by hand. Never throws; a file that is no settings now is left for the next save. */
  look(): Promise<void>;
  /** Resolves when no save is in progress. */
  settled(): Promise<void>;
}

const defaultProfile = "Default";
const fresh = (): Settings =>
  settingsSchema.parse({ version: formatVersion, activeProfile: defaultProfile, profiles: { [defaultProfile]: {} } });

/**
 * Reads `settings.json`, else its backup. A file that cannot be read as settings is moved aside, never overwritten;
 * `warn` says so. A missing file is a fresh start. Which profile is active is a choice for this run, and saved where another one is activated. A `profile` is
 * active in place of the saved one; throws USAGE if there is none of that name. `othersSaved` is called when what another Backlot has saved is read, with the
 * profile that was active in this run if it is there no more.
 */
export async function openSettings(
  dataDir: string,
  warn: (text: string) => void,
  profile?: string,
  othersSaved: (gone: string | undefined) => void = () => {},
): Promise<SettingsFile> {
  const file = path.join(dataDir, "settings.json");
  const backup = path.join(dataDir, "settings.backup.json");
  let current = await openCurrent(file, backup, warn);
  if (!Object.hasOwn(current.profiles, current.activeProfile)) {
    const [first] = Object.keys(current.profiles);
    current = first === undefined ? { ...fresh(), app: current.app } : { ...current, activeProfile: first };
  }
  /** In the file. */
  let savedActive = current.activeProfile;
  if (profile !== undefined) {
    if (!Object.hasOwn(current.profiles, profile)) throw unknownProfile(profile, current);
    current = { ...current, activeProfile: profile };
  }
  let saving: Promise<unknown> = Promise.resolve();
  let known = await fileVersion(file);
  /** Another Backlot may use the same folder: a change is applied to what that has saved meanwhile. */
  async function readAgain(readFile: () => Promise<Settings | undefined>) {
    const version = await fileVersion(file);
    if (version === known) return;
    const others = await readFile();
    if (!others || !Object.hasOwn(others.profiles, others.activeProfile)) return;
    known = version;
    savedActive = others.activeProfile;
    const { activeProfile } = current;
    const isThere = Object.hasOwn(others.profiles, activeProfile);
    current = { ...others, activeProfile: isThere ? activeProfile : savedActive };
    othersSaved(isThere ? undefined : activeProfile);
  }
  /** The profile of this run is active in the file where it was activated, or where that of the file is gone. */
  function toSave(next: Settings): Settings {
    const isActivated = next.activeProfile !== current.activeProfile && Object.hasOwn(next.profiles, current.activeProfile);
    return isActivated || !Object.hasOwn(next.profiles, savedActive) ? next : { ...next, activeProfile: savedActive };
  }
  async function save(change: Parameters<SettingsFile["update"]>[0]): Promise<Settings> {
    await readAgain(() => read(file, warn));
    const next = change(current, savedActive);
    const saved = toSave(next);
    await writeSettings(file, `${JSON.stringify(saved, undefined, 2)}\n`, { backup });
    current = next;
    savedActive = saved.activeProfile;
    known = await fileVersion(file);
    return next;
  }
  return {
    get current() {
      return current;
    },
    update(change) {
      const saved = saving.then(() => inTurnsOfProcesses(file, () => save(change)));
      saving = saved.catch(() => {});
      return saved;
    },
    look() {
      const looked = saving.then(() => readAgain(async () => (await parse(file)).settings)).catch(() => {});
      saving = looked;
      return looked;
    },
    async settled() {
      await saving;
    },
  };
}

async function openCurrent(file: string, backup: string, warn: (text: string) => void): Promise<Settings> {
  const problems: string[] = [];
  const note = (problem: string) => problems.push(problem);
  const current = await read(file, note);
  if (current) return current;
  const saved = await stat(backup).catch(() => undefined);
  const kept = await read(backup, note);
  if (problems.length > 0) {
    const from = kept && saved ? `the settings of the backup, saved at ${saved.mtime.toLocaleString("sv-SE")}` : "the default settings";
    warn(`${problems.join("; ")}. Backlot goes on with ${from}.`);
  }
  return kept ?? fresh();
}

/** Changes whenever the file is replaced; undefined while there is none. */
async function fileVersion(file: string): Promise<string | undefined> {
  const found = await stat(file, { bigint: true }).catch(() => undefined);
  return found && `${found.ino}-${found.mtimeNs}`;
}

/** To be called for a change that is meant for the profile that was active; another Backlot may have removed or renamed it. Throws SETTINGS_CHANGED. */
export function checkActive({ activeProfile }: Settings, expected: string): void {
  if (activeProfile === expected) return;
  throw new ServiceError(
    "SETTINGS_CHANGED",
    `The profile "${expected}" is no longer active: "${activeProfile}" is`,
    "Nothing was saved. Look at the values of that one, and save again.",
  );
}

const unknownProfile = (name: string, { profiles }: Settings) =>
  new ServiceError("USAGE", `There is no profile "${name}"`, `The profiles are ${Object.keys(profiles).join(", ")}.`);

const unreadable = (file: string, cause: unknown) =>
  new ServiceError(
    "SETTINGS_UNREADABLE",
    `Cannot read ${file}: ${(cause as Error).message}`,
    cause instanceof NotRegularFile
      ? "Move it away, or choose another --data-dir."
      : "Give this user the right to read and write there, or choose another --data-dir.",
    {
      cause,
    },
  );

/** Neither settings nor a problem where there is no file. */
async function parse(file: string): Promise<{ readonly settings?: Settings; readonly problem?: string }> {
  let text: string;
  try {
    text = await readRegularFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw unreadable(file, error);
  }
  try {
    const json: unknown = JSON.parse(text);
    const parsed = settingsSchema.safeParse(json);
    if (parsed.success) return { settings: parsed.data };
    const { success: isNewer } = newerSettings.safeParse(json);
    return { problem: isNewer ? "it is of a newer Backlot" : issueSentence(parsed.error.issues[0]) };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function read(file: string, note: (problem: string) => void): Promise<Settings | undefined> {
  const { settings, problem } = await parse(file);
  if (problem === undefined) return settings;
  const aside = `${file}.unreadable-${Date.now()}`;
  // Moved aside: the next save would overwrite it.
  await rename(file, aside).catch((error) => {
    throw unreadable(file, error);
  });
  note(`${file} is not a valid settings file (${problem}) and was moved to ${aside}`);
  return undefined;
}

/** Fields of services that the settings of the active profile name and no service has, as after a typing error: "http.bogus". */
export function unknownFields(
  { profiles, activeProfile }: Settings,
  services: readonly Pick<Service, "id" | "config">[],
): readonly string[] {
  const values = Object.entries(profiles[activeProfile]?.services ?? {});
  return values.flatMap(([id, fields]) => {
    const shape = services.find((service) => service.id === id)?.config.shape;
    // Of a service that this version does not have.
    if (!shape) return [];
    return Object.keys(fields ?? {}).flatMap((name) => (Object.hasOwn(shape, name) ? [] : [`${id}.${name}`]));
  });
}
