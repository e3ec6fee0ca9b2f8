/** Every code that a user may meet; `docs/errors.md` explains each, and a test keeps the two equal. */
export const errorCodes = {
  PORT_IN_USE: "Another process listens on the port.",
  PORT_FORBIDDEN: "The system does not let this user listen on the port.",
  ADDRESS_UNAVAILABLE: "The machine has no such address to listen on.",
  CONFIG_INVALID: "A configuration value is not what its field allows.",
  SETTINGS_UNREADABLE: "The settings file and its backup cannot be read.",
  SETTINGS_UNWRITABLE: "The settings file cannot be written.",
  PROFILE_INVALID: "The profile's name is taken, unknown, or the last one left.",
  SERVICE_UNKNOWN: "There is no service with that name.",
  SERVICE_NOT_BUILT: "The service is not in this version yet.",
  SERVICE_NOT_RUNNING: "The call needs a running service.",
  START_TIMEOUT: "The service did not begin to listen in time.",
  CRASHED: "The service's process ended without being asked to.",
  CRASH_LOOP: "The service crashed too often and is not started again by itself.",
  CALL_UNKNOWN: "There is no call or action with that name.",
  CALL_INVALID: "The parameters of a call are not what it takes.",
  USAGE: "The command line is not understood.",
  DASHBOARD_MISSING: "The dashboard's files are not built.",
  INTERNAL: "A fault in Backlot itself.",
} as const;
export type ErrorCode = keyof typeof errorCodes;
