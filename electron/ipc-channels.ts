/** Up and down travel the frames of contract/wire.ts, and up the commands of contract/menu-commands.ts. */
export const upChannel = "backlot:up";
export const downChannel = "backlot:down";
/** The page's command that was chosen in the menu. */
export const commandChannel = "backlot:command";

/** Sent up instead of a frame by a page that has just loaded: it is a new client, whatever the page before it asked for. */
export const openRequest = "open";
