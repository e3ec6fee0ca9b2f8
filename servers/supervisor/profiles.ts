import type { ControlCalls, Profiles } from "../../contract/control.ts";
import type { Handlers } from "../../contract/operation.ts";
import { ServiceError } from "../core/service/service-error.ts";
import { checkActive, type Settings, type SettingsFile } from "./settings-file.ts";

type ProfileCall = Extract<keyof ControlCalls, `profile.${string}`>;

export const profilesOf = (current: Settings): Profiles => ({ active: current.activeProfile, names: Object.keys(current.profiles) });

/** Profiles are named sets of every service's configuration; one is active. */
export function createProfileHandlers(
  settings: SettingsFile,
  changed: (profiles: Profiles) => Profiles,
): Pick<Handlers<ControlCalls>, ProfileCall> {
  const update = async (change: Parameters<SettingsFile["update"]>[0]) => changed(profilesOf(await settings.update(change)));

  function existing(current: Settings, name: string) {
    const profile = Object.hasOwn(current.profiles, name) ? current.profiles[name] : undefined;
    if (!profile) throw new ServiceError("PROFILE_INVALID", `There is no profile "${name}"`, "Choose one of the list.");
    return profile;
  }
  function checkNew(current: Settings, name: string) {
    if (Object.hasOwn(current.profiles, name)) {
      throw new ServiceError("PROFILE_INVALID", `A profile "${name}" already exists`, "Choose another name.");
    }
  }

  return {
    "profile.list": () => profilesOf(settings.current),
    "profile.create"({ name }) {
      const { activeProfile } = settings.current;
      return update((current) => {
        checkActive(current, activeProfile);
        checkNew(current, name);
        const copy = structuredClone(existing(current, current.activeProfile));
        return { ...current, activeProfile: name, profiles: { ...current.profiles, [name]: copy } };
      });
    },
    "profile.rename": ({ name, to }) =>
      update((current) => {
        existing(current, name);
        if (name === to) return current;
        checkNew(current, to);
        const profiles = Object.fromEntries(Object.entries(current.profiles).map(([key, profile]) => [key === name ? to : key, profile]));
        return { ...current, profiles, activeProfile: current.activeProfile === name ? to : current.activeProfile };
      }),
    "profile.remove": ({ name }) =>
      update((current, savedActive) => {
        existing(current, name);
        const profiles = Object.fromEntries(Object.entries(current.profiles).filter(([key]) => key !== name));
        const [first] = Object.keys(profiles);
        if (first === undefined)
          throw new ServiceError("PROFILE_INVALID", `"${name}" is the last profile`, "Rename it, or create another first.");
        const next = Object.hasOwn(profiles, savedActive) ? savedActive : first;
        return { ...current, profiles, activeProfile: current.activeProfile === name ? next : current.activeProfile };
      }),
    "profile.activate": ({ name }) =>
      update((current) => {
        existing(current, name);
        return { ...current, activeProfile: name };
      }),
  };
}
