/** Both directions carry the frames of contract/wire.ts; the commands of contract/menu-commands.ts go up only. */
export const upChannel = "backlot:up";
export const downChannel = "backlot:down";
/** The page's command that was chosen in the menu. */
export const commandChannel = "backlot:command";

/** Sent up instead of a frame by a page that has just loaded: it is a new client, without the subscriptions of the previous page. */
export const openRequest = "open";
