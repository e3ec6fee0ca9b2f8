import { isDeepStrictEqual } from "node:util";
import { checkConfigValues, configProperties, restoreSecrets } from "../core/config/config.ts";
import type { Service } from "../core/service/service.ts";
import { ServiceError } from "../core/service/service-error.ts";
import { checkActive, type Settings, type SettingsFile } from "./settings-file.ts";

type Values = Readonly<Record<string, unknown>>;

/** What the active profile of the settings file has of one service. */
export interface SavedValues {
  readonly current: Values;
  /**
   * Saves the values, and removes those of `resets`. Throws CONFIG_INVALID, SETTINGS_UNWRITABLE, and SETTINGS_CHANGED where the profile is active no more, or
   * another Backlot has changed one of them meanwhile; nothing is changed then.
   */
  write(values: Values, resets: readonly string[]): Promise<void>;
  /** Removes the values of the names, or all. Throws SETTINGS_UNWRITABLE and SETTINGS_CHANGED, as a save does. */
  remove(names: readonly string[] | undefined): Promise<void>;
}

export function createSavedValues(service: Service, settings: SettingsFile): SavedValues {
  const { id } = service;
  const valuesOf = ({ profiles, activeProfile }: Settings): Values => profiles[activeProfile]?.services[id] ?? {};
  let saving: Promise<unknown> = Promise.resolve();

  /**
   * One after the other: the secrets that a form does not show are those of the save before. `make` gets the active profile's values as they were. The profile
   * is the one that is active at the call.
   */
  function save(make: (known: Values) => Promise<(values: Values) => Values>): Promise<void> {
    const { activeProfile } = settings.current;
    const saved = saving.then(async () => {
      checkActive(settings.current, activeProfile);
      const change = await make(valuesOf(settings.current));
      await settings.update((current) => {
        checkActive(current, activeProfile);
        const active = current.profiles[activeProfile] ?? { services: {} };
        const services = { ...active.services, [id]: change(valuesOf(current)) };
        return { ...current, profiles: { ...current.profiles, [activeProfile]: { ...active, services } } };
      });
    });
    saving = saved.catch(() => {});
    return saved;
  }

  return {
    get current() {
      return valuesOf(settings.current);
    },
    write: (values, resets) =>
      save(async (known) => {
        // A form sends back the mask of a secret that was not touched.
        const touched = restoreSecrets(service, values, known);
        checkConfigValues(service, touched);
        const hashed = (await service.hashSecrets?.(touched)) ?? touched;
        return (current) => {
          const next = { ...without(current, resets), ...hashed };
          checkUnchanged(service, known, current, next, [...resets, ...Object.keys(hashed)]);
          return next;
        };
      }),
    remove: (names) =>
      save(async (known) => (current) => {
        const next = names ? without(current, names) : {};
        checkUnchanged(service, known, current, next, names ?? Object.keys(current));
        return next;
      }),
  };
}

/** Of a list of users, for example, that another Backlot has changed, the form has an older one, with older passwords. */
function checkUnchanged(service: Service, known: Values, current: Values, next: Values, names: readonly string[]): void {
  const isOther = (name: string) => !isDeepStrictEqual(current[name], known[name]) && !isDeepStrictEqual(current[name], next[name]);
  const name = names.find(isOther);
  if (name === undefined) return;
  const title = configProperties(service).find(([other]) => other === name)?.[1].title ?? name;
  const problem = "another Backlot has saved another value meanwhile";
  throw new ServiceError(
    "SETTINGS_CHANGED",
    `${service.title}, ${title}: ${problem}`,
    "Nothing was saved. Look at the value, and save again.",
    {
      field: { name, problem },
    },
  );
}

export const without = (values: Values, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
