"""capture.py - a job of torch.distributed that reports which path NCCL took for it.

    torchrun --nproc-per-node 2 capture.py [FOLDER]      a GPU for each rank; FOLDER keeps NCCL's logs
"""
import os
import sys

import torch
import torch.distributed as dist

import ncclscope


def train(device):
    """Stands for what the job is about: some steps, with a collective each."""
    gradient = torch.ones(1 << 20, device=device)
    for _ in range(10):
        dist.all_reduce(gradient)
    torch.cuda.synchronize(device)


def main():
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    # Before NCCL begins: it looks at its variables once in a process.
    with ncclscope.capture(folder=sys.argv[1] if len(sys.argv) > 1 else None) as cap:
        dist.init_process_group("nccl", device_id=device)
        train(device)
    dist.destroy_process_group()
    if cap.report is not None:  # on rank 0
        print(cap.report.to_text())
        sys.exit(bool(cap.report.at_least("error")))


if __name__ == "__main__":
    main()
