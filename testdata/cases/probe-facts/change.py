import json, sys
facts = json.load(sys.stdin)
facts["gpus"][0].update(fabric_state="not-supported", nvlinks_up=17, mig=True)
for key in ("cuda_index", "memory_bytes", "pcie_gen_max", "nvlink_mb_s", "nvlink_remote", "fabric_state"):
    del facts["gpus"][1][key]
json.dump(facts, sys.stdout)
