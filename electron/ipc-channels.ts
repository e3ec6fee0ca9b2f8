/** One channel each way; what travels is a frame of contract/wire.ts. */
export const upChannel = "backlot:up";
export const downChannel = "backlot:down";

/** Sent up instead of a frame by a page that has just loaded: it is a new client, whatever the page before it asked for. */
export const openRequest = "open";
