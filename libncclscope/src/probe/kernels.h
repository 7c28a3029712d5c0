/* kernels.h - the PTX that measuring runs on the GPUs. */
#ifndef NSC_KERNELS_H
#define NSC_KERNELS_H

extern const char nsc_kernels[];

#endif
