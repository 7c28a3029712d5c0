/* interrupt.h - INT, TERM and HUP: the first ends the reading or measuring, and what is known is reported; a second ends the command. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

/* Hear them from here on, but for those that whoever started this had ignored (nohup, background jobs). */
void interrupt_hear(void);
/* The signal that came; 0: none did. Also as the stop of ncclscope_scan_options. */
int interrupt_came(void *unused);
/* What a scan returned; what was read before it was stopped is reported like any other. */
int unless_stopped(int rc);

#endif
